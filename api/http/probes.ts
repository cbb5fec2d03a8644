/** Paths of the probes, on both listeners (spec 1, Health and debugging). */
export const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/startup']);
