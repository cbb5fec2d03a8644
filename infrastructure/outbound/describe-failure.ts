import type { OutboundOutcome } from '../../application/ports/outbound.ts';
import { ADDRESS_NOT_ALLOWED, RefusedError } from './guard.ts';
import { RedirectError } from './redirect.ts';
import { ResolveError } from './resolve-host.ts';

type Failure = Exclude<OutboundOutcome, { kind: 'answered' }>;

/** Lack of our own sockets or network: says nothing about the endpoint. */
const OWN_FAULTS = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL', 'ENETDOWN']);

/** Words for codes that a reader of a delivery record can act on; other texts may name addresses and are not passed on. */
const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  UND_ERR_SOCKET: 'connection closed',
  UND_ERR_HEADERS_OVERFLOW: 'response headers too large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'invalid response',
};

/** What a thrown error means for the delivery. `timedOut`: our overall deadline had passed; `stopped`: the caller ended it. */
export function describeFailure(error: unknown, { timedOut, stopped, durationMs }: { timedOut: boolean; stopped: boolean; durationMs: number }): Failure {
  if (error instanceof RefusedError) return { kind: 'refused', error: ADDRESS_NOT_ALLOWED, durationMs };
  if (stopped) return { kind: 'own_fault', error: 'stopped', durationMs };
  if (timedOut) return { kind: 'failed', error: 'timeout', durationMs };
  if (error instanceof RedirectError) return { kind: 'failed', error: error.message, durationMs };
  if (error instanceof ResolveError) return { kind: error.ownFault ? 'own_fault' : 'failed', error: error.message, durationMs };
  const codes = codesOf(error);
  if (codes.some((code) => OWN_FAULTS.has(code))) return { kind: 'own_fault', error: 'no socket available', durationMs };
  const code = codes.find((candidate) => candidate in WORDS);
  if (code !== undefined) return { kind: 'failed', error: WORDS[code] ?? 'request failed', durationMs };
  if (codes.some((candidate) => candidate.startsWith('HPE_'))) return { kind: 'failed', error: 'invalid response', durationMs };
  if (codes.some((candidate) => /CERT|TLS|SSL|SELF_SIGNED|VERIFY/.test(candidate))) return { kind: 'failed', error: 'TLS error', durationMs };
  return { kind: 'failed', error: 'request failed', durationMs };
}

/** Codes of an error, of its causes and of the single attempts behind an aggregate. */
function codesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const own = 'code' in error && typeof error.code === 'string' ? [error.code] : [];
  const parts = error instanceof AggregateError ? error.errors.flatMap(codesOf) : [];
  return [...own, ...parts, ...(error.cause === undefined ? [] : codesOf(error.cause))];
}
