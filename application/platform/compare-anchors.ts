import { ORIGIN } from '../../domain/event.ts';
import { merkleRoot } from '../../domain/platform/audit-chain.ts';
import type { SignedRange } from '../../domain/platform/audit-events.ts';
import type { AuditDependencies } from './audit-dependencies.ts';
import type { AuditBreak } from './verify-audit.ts';

/** Copies of audit signatures that were kept outside the database. */
export type Anchors = {
  /** What the genuine ones sign, by tenant, in the order of the input without repeats. */
  readonly byTenant: ReadonlyMap<string, readonly SignedRange[]>;
  /** Number of those that this installation did not sign. */
  readonly invalid: number;
};

export type AnchorVerdict = {
  readonly ok: boolean;
  /** Number of anchors that match the chain. */
  readonly checked: number;
  /** Number of anchors of chains that were started again since; they are not compared. */
  readonly superseded: number;
  /** The first anchor that the chain does not match. `position` and `event_id` are of the last event under it. */
  readonly first_broken: AuditBreak | null;
};

/** Checks the signatures of anchors, given as compact JWS. */
export async function readAnchors(
  { anchors }: { readonly anchors: Iterable<string> },
  { signer }: Pick<AuditDependencies, 'signer'>,
): Promise<Anchors> {
  const byTenant = new Map<string, SignedRange[]>();
  let invalid = 0;
  for (const jws of new Set(anchors)) {
    const range = await signer.verify(jws);
    if (!range) invalid += 1;
    else byTenant.set(range.tenant, [...(byTenant.get(range.tenant) ?? []), range]);
  }
  return { byTenant, invalid };
}

/**
 * Compares a tenant's chain with what was signed before: `missing` when the chain is shorter, `edited` when it has
 * other links. Finds what the database alone cannot show: a database that was restored to an earlier state or written
 * again.
 */
export async function compareAnchors(
  { tenant, ranges }: { readonly tenant: string; readonly ranges: readonly SignedRange[] },
  { chain }: Pick<AuditDependencies, 'chain'>,
): Promise<AnchorVerdict> {
  const stored = await chain.stored();
  const generation = stored.kind === 'stored' ? stored.state.generation : 0;
  let checked = 0;
  let superseded = 0;
  for (const range of ranges) {
    if ((range.generation ?? 0) < generation) {
      superseded += 1;
      continue;
    }
    const links = await chain.linksBetween(tenant, range.from_seq, range.to_seq);
    const last = links.at(-1);
    if (links.length < range.to_seq - range.from_seq + 1) {
      const first_broken = { position: range.to_position, event_id: '', kind: 'missing' } as const;
      return { ok: false, checked, superseded, first_broken };
    }
    if (last?.mac !== range.head_mac || merkleRoot(links.map(({ digest }) => digest)) !== range.merkle_root) {
      const first_broken = {
        position: last?.position ?? ORIGIN,
        event_id: last?.eventId ?? '',
        kind: 'edited',
      } as const;
      return { ok: false, checked, superseded, first_broken };
    }
    checked += 1;
  }
  return { ok: true, checked, superseded, first_broken: null };
}
