import type { AuditChain, ChainSession, StoredHead } from '../../application/ports/audit-chain.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { AuditLink } from '../../domain/platform/audit-chain.ts';
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
};
type LinkRow = {
  readonly seq: number;
  readonly position: GlobalPosition;
  readonly event_id: string;
  readonly digest: string;
  readonly mac: string;
};

const HEAD =
  'select tenant_id, seq, position, mac, head_mac, sealed_seq, unsealed, sealed_at from operational.audit_heads';
const LINK = 'select seq, position, event_id::text as event_id, digest, mac from operational.audit_links';

/** The audit chains in the schema `operational`. */
export function createAuditChain({ database }: { readonly database: Database }): AuditChain {
  return {
    exclusively: (work) =>
      database.transaction(
        async (tx) => {
          // The row lock serialises sessions: the next session waits here and then reads what this one wrote.
          const [row] = await tx.query<{ position: GlobalPosition }>(
            'select position from operational.audit_progress for update',
          );
          if (!row) throw new Error('operational.audit_progress is empty');
          return work(sessionOf(tx, row.position));
          // After a crash of the server the lost links and the progress are rebuilt from the log.
        },
        { synchronousCommit: false },
      ),
    tenants: async () =>
      (
        await database.query<{ tenant_id: string }>('select tenant_id from operational.audit_heads order by tenant_id')
      ).map(({ tenant_id }) => tenant_id),
    head: async (tenant) => (await readHeads(database, 'where tenant_id = $1', [tenant]))[0],
    async link(tenant, seq) {
      const [row] = await database.query<LinkRow>(`${LINK} where tenant_id = $1 and seq = $2`, [tenant, seq]);
      return row && toLink(tenant, row);
    },
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

function sessionOf(tx: Transaction, position: GlobalPosition): ChainSession {
  return {
    position,
    heads: async (tenants) =>
      new Map((await readHeads(tx, 'where tenant_id = any ($1)', [tenants])).map((head) => [head.tenant, head])),
    unsignedHeads: () => readHeads(tx, 'where unsealed > 0 order by tenant_id', []),
    linksBetween: (tenant, fromSeq, toSeq) =>
      tx.query<Pick<AuditLink, 'digest' | 'position' | 'mac'>>(
        'select digest, position, mac from operational.audit_links where tenant_id = $1 and seq between $2 and $3 order by seq',
        [tenant, fromSeq, toSeq],
      ),
    async add(links, heads, reached) {
      await tx.execute(
        `insert into operational.audit_links (tenant_id, seq, position, event_id, digest, mac)
         select * from unnest($1::text[], $2::int8[], $3::text[], $4::uuid[], $5::text[], $6::text[])`,
        [
          links.map(({ tenant }) => tenant),
          links.map(({ seq }) => seq),
          links.map((link) => link.position),
          links.map(({ eventId }) => eventId),
          links.map(({ digest }) => digest),
          links.map(({ mac }) => mac),
        ],
        'audit-links',
      );
      for (const head of heads) await writeHead(tx, head);
      await tx.execute('update operational.audit_progress set position = $1', [reached]);
    },
    putHead: (head) => writeHead(tx, head),
  };
}

async function writeHead(
  tx: Transaction,
  { tenant, seq, position, mac, headMac, signedSeq, unsigned, signedAt }: StoredHead,
): Promise<void> {
  await tx.execute(
    `insert into operational.audit_heads (tenant_id, seq, position, mac, head_mac, sealed_seq, unsealed, sealed_at) values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (tenant_id) do update set seq = excluded.seq, position = excluded.position, mac = excluded.mac, head_mac = excluded.head_mac,
       sealed_seq = excluded.sealed_seq, unsealed = excluded.unsealed, sealed_at = excluded.sealed_at`,
    [tenant, seq, position, mac, headMac, signedSeq, unsigned, signedAt],
    'audit-head',
  );
}

async function readHeads(db: Queryable, where: string, values: readonly unknown[]): Promise<readonly StoredHead[]> {
  return (await db.query<HeadRow>(`${HEAD} ${where}`, values)).map((row) => ({
    tenant: row.tenant_id,
    seq: row.seq,
    position: row.position,
    mac: row.mac,
    headMac: row.head_mac,
    signedSeq: row.sealed_seq,
    unsigned: row.unsealed,
    signedAt: row.sealed_at.toISOString(),
  }));
}

function toLink(tenant: string, { seq, position, event_id, digest, mac }: LinkRow): AuditLink {
  return { tenant, seq, position, eventId: event_id, digest, mac };
}
