/** Paths of the probes. Both listeners serve them. */
export const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/startup']);
