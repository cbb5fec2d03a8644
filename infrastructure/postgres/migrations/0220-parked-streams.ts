import type { Migration } from './migration.ts';

/** The streams whose events a projector cannot apply. */
export const parkedStreams: Migration = {
  id: '0220-parked-streams',
  sql: `
    create table operational.parked_streams (
      projection text not null,
      stream text not null,
      tenant text not null,
      revision bigint not null,
      position text collate "C" not null check (position ~ '^[0-9]{20}$'),
      resume_after text collate "C" not null check (resume_after ~ '^[0-9]{20}$'),
      reason text not null,
      parked_at timestamptz not null default clock_timestamp(),
      primary key (projection, stream)
    );
    comment on table operational.parked_streams is 'Streams that a projection does not apply from the named revision on; projection is the name of its checkpoint';
  `,
};
