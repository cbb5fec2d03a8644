import type { PaidPart } from '../../application/platform/gates.ts';
import { requirePaid } from '../../application/platform/gates.ts';
import type { Entitlements } from '../../application/ports/entitlements.ts';

/** A route's precheck: 402 unless the license opens the part, before the body is looked at (spec 1, gating rules 2). */
export function paid(part: PaidPart, entitlements: Entitlements): () => Promise<void> {
  return () =>
    new Promise((resolve) => {
      requirePaid(part, entitlements);
      resolve();
    });
}
