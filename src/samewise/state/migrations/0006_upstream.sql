-- Up to which landing of each incremental task upstream the loaded windows of a task have been looked at.
ALTER TABLE samewise_tasks ADD COLUMN upstream TEXT;
