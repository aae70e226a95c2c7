def upgrade_details(spark):
    spark.sql("INSERT INTO core.details SELECT id, note FROM core.details_legacy")
