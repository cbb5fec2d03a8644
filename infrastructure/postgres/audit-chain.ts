import type {
  AuditChain,
  ChainSession,
  FoundHead,
  StoredHead,
  StoredState,
} from '../../application/ports/audit-chain.ts';
import { type GlobalPosition, positionFrom } from '../../domain/event.ts';
import type { AuditLink } from '../../domain/platform/audit-chain.ts';
import { underAdvisoryLock } from './advisory-lock.ts';
import type { Database, Queryable, Transaction } from './database.ts';

type HeadRow = {
  readonly tenant_id: string;
  readonly seq: number;
  readonly position: GlobalPosition;
  readonly mac: string;
  readonly head_mac: string;
  readonly sealed_seq: number;
  readonly unsealed: number;
  readonly sealed_at: Date;
  readonly last_link_mac: string | null;
  readonly links_beyond: boolean;
};
type StateRow = {
  readonly position: GlobalPosition;
  readonly events: number;
  readonly chains: number;
  readonly heads_sum: string;
  readonly generation: number;
  readonly stopped: Readonly<Record<string, string>>;
  readonly mac: string;
};
type LinkRow = {
  readonly seq: number;
  readonly position: GlobalPosition;
  readonly event_id: string;
  readonly digest: string;
  readonly mac: string;
};

const HEAD = `
  select h.tenant_id, h.seq, h.position, h.mac, h.head_mac, h.sealed_seq, h.unsealed, h.sealed_at,
    l.mac as last_link_mac,
    exists (select 1 from operational.audit_links b where b.tenant_id = h.tenant_id and b.seq > h.seq) as links_beyond
  from operational.audit_heads h left join operational.audit_links l on l.tenant_id = h.tenant_id and l.seq = h.seq`;
const LINK = 'select seq, position, event_id::text as event_id, digest, mac from operational.audit_links';

/** An arbitrary constant, the same for every process of the installation. */
const SESSION_LOCK = '7215304160';

/** The audit chains in the schema `operational`. */
export function createAuditChain({ database }: { readonly database: Database }): AuditChain {
  return {
    exclusively: (work) =>
      underAdvisoryLock(
        // After a crash of the server the lost links and the state are rebuilt from the log.
        { id: SESSION_LOCK, synchronousCommit: false },
        async (tx) => work(sessionOf(tx, await readState(tx))),
        { database },
      ),
    // A durable commit also makes the commits before it durable.
    async flush() {
      await database.execute('update operational.audit_state set mac = mac');
    },
    stored: () => readState(database),
    async firstGap(until) {
      const [row] = await database.query<{ gap: number }>(
        `select expected as gap from (
           select position::int8 as position, row_number() over (order by position) as expected
           from operational.audit_links
         ) links where position <> expected order by expected limit 1`,
      );
      if (row) return positionFrom(row.gap);
      const [count] = await database.query<{ links: number }>('select count(*) as links from operational.audit_links');
      const next = positionFrom((count?.links ?? 0) + 1);
      return next <= until ? next : undefined;
    },
    allHeads: () => readHeads(database, 'order by h.tenant_id', []),
    tenants: async () =>
      (
        await database.query<{ tenant_id: string }>('select tenant_id from operational.audit_heads order by tenant_id')
      ).map(({ tenant_id }) => tenant_id),
    head: async (tenant) => (await readHeads(database, 'where h.tenant_id = $1', [tenant]))[0],
    async link(tenant, seq) {
      const [row] = await database.query<LinkRow>(`${LINK} where tenant_id = $1 and seq = $2`, [tenant, seq]);
      return row && toLink(tenant, row);
    },
    linksBetween: (tenant, fromSeq, toSeq) => readLinksBetween(database, tenant, fromSeq, toSeq),
    async links(tenant, afterSeq, limit) {
      const rows = await database.query<LinkRow>(`${LINK} where tenant_id = $1 and seq > $2 order by seq limit $3`, [
        tenant,
        afterSeq,
        limit,
      ]);
      return rows.map((row) => toLink(tenant, row));
    },
  };
}

function sessionOf(tx: Transaction, stored: StoredState): ChainSession {
  return {
    stored,
    heads: async (tenants) =>
      new Map((await readHeads(tx, 'where h.tenant_id = any ($1)', [tenants])).map((head) => [head.tenant, head])),
    allHeads: () => readHeads(tx, 'order by h.tenant_id', []),
    unsignedHeads: () => readHeads(tx, 'where h.unsealed > 0 order by h.tenant_id', []),
    async countLinks() {
      const [row] = await tx.query<{ links: number }>('select count(*) as links from operational.audit_links');
      return row?.links ?? 0;
    },
    linksBetween: (tenant, fromSeq, toSeq) => readLinksBetween(tx, tenant, fromSeq, toSeq),
    async addLinks(links) {
      await tx.execute(
        `insert into operational.audit_links (tenant_id, seq, position, event_id, digest, mac)
         select * from unnest($1::text[], $2::int8[], $3::text[], $4::uuid[], $5::text[], $6::text[])`,
        [
          links.map(({ tenant }) => tenant),
          links.map(({ seq }) => seq),
          links.map(({ position }) => position),
          links.map(({ eventId }) => eventId),
          links.map(({ digest }) => digest),
          links.map(({ mac }) => mac),
        ],
        'audit-links',
      );
    },
    async putHeads(heads) {
      for (const head of heads) await writeHead(tx, head);
    },
    async putState(state, mac) {
      await tx.execute(
        `insert into operational.audit_state (position, events, chains, heads_sum, generation, stopped, mac)
         values ($1, $2, $3, $4, $5, $6, $7)
         on conflict (only_row) do update
           set position = excluded.position, events = excluded.events, chains = excluded.chains,
           heads_sum = excluded.heads_sum, generation = excluded.generation, stopped = excluded.stopped,
           mac = excluded.mac`,
        [state.position, state.events, state.chains, state.headsSum, state.generation, state.stopped, mac],
        'audit-state',
      );
      // Without this row earlier builds, which write no MACs of this kind, stop extending the chains.
      if (stored.kind !== 'stored') await tx.execute('delete from operational.audit_progress');
    },
    async clear() {
      for (const table of ['audit_links', 'audit_heads', 'audit_state', 'audit_progress'])
        await tx.execute(`delete from operational.${table}`);
    },
  };
}

async function readState(queryable: Queryable): Promise<StoredState> {
  const [row] = await queryable.query<StateRow>(
    'select position, events, chains, heads_sum, generation, stopped, mac from operational.audit_state',
  );
  if (row) {
    const { position, events, chains, heads_sum: headsSum, generation, stopped, mac } = row;
    return { kind: 'stored', state: { position, events, chains, headsSum, generation, stopped }, mac };
  }
  // Builds from before the state had a MAC keep their position in this row, and lock it while they extend the chains.
  const [earlier] = await queryable.query<{ position: GlobalPosition }>(
    'select position from operational.audit_progress for update',
  );
  return earlier ? { kind: 'earlier', position: earlier.position } : { kind: 'none' };
}

async function readLinksBetween(
  queryable: Queryable,
  tenant: string,
  fromSeq: number,
  toSeq: number,
): Promise<readonly AuditLink[]> {
  const rows = await queryable.query<LinkRow>(`${LINK} where tenant_id = $1 and seq between $2 and $3 order by seq`, [
    tenant,
    fromSeq,
    toSeq,
  ]);
  return rows.map((row) => toLink(tenant, row));
}

async function writeHead(
  tx: Transaction,
  { tenant, seq, position, mac, headMac, signedSeq, unsigned, signedAt }: StoredHead,
): Promise<void> {
  await tx.execute(
    `insert into operational.audit_heads (tenant_id, seq, position, mac, head_mac, sealed_seq, unsealed, sealed_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (tenant_id) do update
       set seq = excluded.seq, position = excluded.position, mac = excluded.mac, head_mac = excluded.head_mac,
       sealed_seq = excluded.sealed_seq, unsealed = excluded.unsealed, sealed_at = excluded.sealed_at`,
    [tenant, seq, position, mac, headMac, signedSeq, unsigned, signedAt],
    'audit-head',
  );
}

async function readHeads(
  queryable: Queryable,
  where: string,
  values: readonly unknown[],
): Promise<readonly FoundHead[]> {
  return (await queryable.query<HeadRow>(`${HEAD} ${where}`, values)).map((row) => ({
    tenant: row.tenant_id,
    seq: row.seq,
    position: row.position,
    mac: row.mac,
    headMac: row.head_mac,
    signedSeq: row.sealed_seq,
    unsigned: row.unsealed,
    signedAt: row.sealed_at.toISOString(),
    lastLinkMac: row.last_link_mac ?? undefined,
    linksBeyond: row.links_beyond,
  }));
}

function toLink(tenant: string, { seq, position, event_id, digest, mac }: LinkRow): AuditLink {
  return { tenant, seq, position, eventId: event_id, digest, mac };
}
