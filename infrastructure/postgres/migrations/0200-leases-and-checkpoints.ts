import type { Migration } from './migration.ts';

/** Leases, checkpoints of followers, and the installed version of each read model. */
export const leasesAndCheckpoints: Migration = {
  id: '0200-leases-and-checkpoints',
  sql: `
    create table operational.leases (
      name text primary key,
      owner text not null,
      epoch bigint not null check (epoch > 0),
      expires_at timestamptz not null
    ) with (fillfactor = 50);
    comment on table operational.leases is 'Duties that one process does at a time; epoch grows with every owner and fences its writes';

    create table operational.checkpoints (
      name text primary key,
      position text collate "C" not null check (position ~ '^[0-9]{20}$'),
      epoch bigint not null,
      updated_at timestamptz not null default clock_timestamp(),
      stopped_at text,
      stopped_reason text
    ) with (fillfactor = 50);
    comment on table operational.checkpoints is 'Position up to which a follower of the log is done; moved only under the epoch of its lease';

    create table operational.projections (
      name text primary key,
      version integer not null,
      installed_at timestamptz not null default clock_timestamp()
    );
    comment on table operational.projections is 'Version of each read model that the live schema holds';
  `,
};
