import type { Migration } from './migration.ts';

/** Comments of earlier tables in the words of the glossary. */
export const plainComments: Migration = {
  id: '0700-plain-comments',
  sql: `
    comment on table operational.leases is 'The right of one process to a piece of work; epoch grows with each new owner, and writes with a smaller epoch are refused';
    comment on table operational.checkpoints is 'Position up to which a follower has handled the log; written only under the epoch of its lease';
    comment on table operational.projections is 'Version of each read model in the live schema';
    comment on table operational.audit_links is 'One HMAC link per event and tenant: digests only. The rows do not refer to events, so that a deleted event is detected';
    comment on table operational.audit_heads is 'End of each chain, authenticated by head_mac, and the part of it that audit signatures cover';
    comment on table operational.audit_progress is 'Position up to which the log is chained; its row is locked by the process that extends the chains'`,
};
