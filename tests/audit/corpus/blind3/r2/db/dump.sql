--
-- PostgreSQL database dump
--
SET statement_timeout = 0;
SET client_encoding = 'UTF8';
COPY public.actor (actor_id, first_name) FROM stdin;
1	Penelope
2	Nick
\.
SELECT pg_catalog.setval('public.actor_actor_id_seq', 200, true);