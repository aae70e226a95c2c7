import uuid
from pyspark.sql import functions as F
from pyspark.sql.types import StringType
make_id = F.udf(lambda: str(uuid.uuid4()), StringType())
def build(df):
    df.withColumn("order_key", make_id()).write.format("delta").mode("overwrite").saveAsTable("gold.orders")  # expect: SW302
