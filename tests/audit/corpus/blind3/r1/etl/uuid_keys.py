import uuid
from pyspark.sql import SparkSession, functions as F
from pyspark.sql.types import StringType

spark = SparkSession.builder.getOrCreate()
make_id = F.udf(lambda: str(uuid.uuid4()), StringType())
src = spark.table("bronze.visits")
src.withColumn("visit_id", F.expr("uuid()")).createOrReplaceTempView("v")  # expect: SW302
spark.sql("MERGE INTO silver.visits t USING v s ON t.visit_id = s.visit_id WHEN NOT MATCHED THEN INSERT *")

good = src.dropDuplicates(["user", "ts"]).withColumn("visit_id", F.sha2(F.concat_ws("|", "user", "ts"), 256))
good.createOrReplaceTempView("g")
spark.sql("MERGE INTO silver.visits2 t USING g s ON t.visit_id = s.visit_id WHEN NOT MATCHED THEN INSERT *")