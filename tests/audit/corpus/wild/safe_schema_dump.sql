CREATE TABLE public.users (
    id integer NOT NULL,
    name text
);
COPY public.users (id, name) FROM stdin;
1	Ann
2	Bob
\.
ALTER TABLE ONLY public.users ADD CONSTRAINT users_pkey PRIMARY KEY (id);
