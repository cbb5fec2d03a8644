import type { Migration } from './migration.ts';

/** Mails waiting for the mail server: sealed, and deleted once the server has accepted them. */
export const mailQueue: Migration = {
  id: '0340-mail-queue',
  sql: `
    create table operational.mail_queue (
      id uuid primary key,
      content jsonb not null,
      attempts integer not null default 0,
      due_at timestamptz not null default now(),
      queued_at timestamptz not null default now()
    );
    create index mail_queue_due on operational.mail_queue (due_at);
    comment on column operational.mail_queue.content is 'Address, subject and text, sealed; whether anybody is written to at all stands inside'`,
};
