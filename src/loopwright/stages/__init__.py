"""How a stage is carried out: asking, checking, judging, delivery, spending. Verbs call it; it calls no verb."""
