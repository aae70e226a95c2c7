CREATE PROCEDURE etl.Run @BatchId INT AS
BEGIN
  INSERT INTO etl.RunLog (BatchId, StartedAt) VALUES (@BatchId, GETDATE());
  EXEC etl.Step1;
  UPDATE etl.RunLog SET FinishedAt = GETDATE() WHERE BatchId = @BatchId;
END
