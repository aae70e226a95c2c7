INSERT INTO orders (order_id, customer, total)
SELECT gen_random_uuid(), customer, total FROM incoming_orders -- expect: SW302
ON CONFLICT (order_id) DO NOTHING;
