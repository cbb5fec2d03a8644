import type { Migration } from './migration.ts';

/** The delivery queue of webhooks, the records of attempts, and dead letters. */
export const webhookDeliveries: Migration = {
  id: '0400-webhook-deliveries',
  sql: `
    -- Written once for an event and a webhook; the id is made of both, so a repeated event adds nothing.
    create table operational.webhook_messages (
      id uuid primary key,
      tenant_id text not null,
      webhook_id uuid not null,
      event_id uuid not null,
      event text not null,
      schema text not null,
      body text not null,
      created_at timestamptz not null default now()
    );

    -- What is still to be sent; rows are short, because they are moved often. A claim is a due time in the future.
    create table operational.webhook_queue (
      message_id uuid primary key,
      tenant_id text not null,
      webhook_id uuid not null,
      delivery_id uuid not null,
      attempt integer not null default 1,
      postponed integer not null default 0,
      due_at timestamptz not null default now(),
      claim uuid,
      created_at timestamptz not null default now()
    ) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
    create index webhook_queue_due on operational.webhook_queue (due_at);
    create index webhook_queue_webhook on operational.webhook_queue (tenant_id, webhook_id);

    create table operational.webhook_attempts (
      id uuid not null,
      tenant_id text not null,
      webhook_id uuid not null,
      message_id uuid not null,
      attempt_num integer not null,
      status text not null check (status in ('success', 'failed', 'dead')),
      status_code integer,
      duration_ms integer not null,
      response_body text,
      error text,
      created_at timestamptz not null,
      primary key (message_id, attempt_num)
    );
    create index webhook_attempts_newest on operational.webhook_attempts (tenant_id, webhook_id, created_at desc, id desc);

    create table operational.webhook_dead_letters (
      id uuid primary key,
      tenant_id text not null,
      webhook_id uuid not null,
      webhook_name text not null,
      message_id uuid not null unique,
      event text not null,
      schema text not null,
      request_body text not null,
      last_status_code integer,
      last_error text,
      total_attempts integer not null,
      status text not null default 'pending' check (status in ('pending', 'replayed', 'dismissed')),
      created_at timestamptz not null default now(),
      announced_at timestamptz,
      announce_after timestamptz not null default now()
    );
    create index webhook_dead_letters_newest on operational.webhook_dead_letters (tenant_id, created_at desc, id desc);
    create index webhook_dead_letters_unannounced on operational.webhook_dead_letters (announce_after) where announced_at is null;
  `,
};
