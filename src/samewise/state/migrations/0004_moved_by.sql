-- Who moved a watermark by hand; NULL where a run or a recovery did.
ALTER TABLE samewise_watermark_moves ADD COLUMN moved_by TEXT;
