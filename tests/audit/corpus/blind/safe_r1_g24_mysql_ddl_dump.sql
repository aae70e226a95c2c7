-- MySQL dump 10.13  Distrib 8.0.36
/*!40101 SET NAMES utf8mb4 */;
DROP TABLE IF EXISTS `city`;
CREATE TABLE `city` (
  `id` int NOT NULL AUTO_INCREMENT,
  `name` varchar(35) NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
LOCK TABLES `city` WRITE;
INSERT INTO `city` VALUES (1,'Kabul'),(2,'Qandahar'),(3,'Herat');
UNLOCK TABLES;
-- Dump completed on 2024-05-01
