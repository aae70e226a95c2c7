from pyspark.sql import Window
from pyspark.sql import functions as F


def latest(spark):
    w = Window.partitionBy("user_id").orderBy(F.col("signup_date").desc())  # expect: SW304
    df = spark.table("bronze.users").withColumn("rn", F.row_number().over(w)).where("rn = 1")
    df.write.format("delta").mode("overwrite").saveAsTable("silver.users")
