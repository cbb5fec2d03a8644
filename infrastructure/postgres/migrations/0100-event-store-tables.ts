import type { Migration } from './migration.ts';

/**
 * Tables of the embedded event store. `head` is the single counter row: locked until commit, it makes positions
 * gap-free and orders them by commit. Data and metadata are `json`, which keeps the text as written, so that events are
 * returned unchanged. As in EventStoreDB, event ids are not unique in the log; they identify a repeated append at its
 * place in a stream.
 */
export const eventStoreTables: Migration = {
  id: '0100-event-store-tables',
  sql: `
create schema eventstore;

create table eventstore.head (
  only_row boolean primary key default true check (only_row),
  position bigint not null check (position >= 0),
  recorded_at timestamptz not null
) with (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
insert into eventstore.head (position, recorded_at) values (0, '-infinity');

create table eventstore.events (
  position bigint not null,
  revision bigint not null check (revision >= 0),
  recorded_at timestamptz not null,
  id uuid not null,
  stream text collate "C" not null,
  type text collate "C" not null,
  category text collate "C" not null,
  tenant text collate "C" not null,
  correlation_id text collate "C" not null,
  data json not null,
  metadata json not null,
  constraint events_pkey primary key (position)
) with (autovacuum_analyze_scale_factor = 0.05);
create unique index events_stream on eventstore.events (stream, revision);
create index events_id on eventstore.events (id);
create index events_tenant on eventstore.events (tenant, position);
create index events_correlation on eventstore.events (correlation_id);

-- Streams that have a retention or were deleted; all others have no row.
create table eventstore.stream_states (
  stream text collate "C" primary key,
  tombstoned boolean not null default false,
  -- Events before this revision were deleted. A stream is deleted as long as its last revision is one of them.
  hidden_before bigint not null default 0,
  max_count bigint check (max_count > 0),
  max_age_seconds bigint check (max_age_seconds > 0),
  truncate_before bigint check (truncate_before >= 0)
);

create function eventstore.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'eventstore.% is append-only: % is refused', tg_table_name, lower(tg_op) using errcode = 'insufficient_privilege';
end $$;

create trigger append_only before update or delete or truncate on eventstore.events
  for each statement execute function eventstore.refuse_change();
create trigger append_only before delete or truncate on eventstore.head
  for each statement execute function eventstore.refuse_change();
-- Also in sessions that play replicas.
alter table eventstore.events enable always trigger append_only;
alter table eventstore.head enable always trigger append_only;
revoke all on eventstore.events, eventstore.head from public;
`,
};
