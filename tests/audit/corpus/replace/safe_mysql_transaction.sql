START TRANSACTION;
DELETE FROM `report_daily` WHERE `day` = '2024-05-01';
INSERT INTO `report_daily` SELECT `day`, COUNT(*) FROM `visits` WHERE `day` = '2024-05-01' GROUP BY `day`;
COMMIT;
