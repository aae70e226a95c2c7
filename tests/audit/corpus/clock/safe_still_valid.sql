INSERT INTO active_coupons (coupon_id)
SELECT coupon_id FROM coupons WHERE expires_at > now()
ON CONFLICT (coupon_id) DO NOTHING;
