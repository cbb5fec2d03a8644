import type { OutboundOutcome } from '../../application/ports/outbound.ts';
import { ownValue } from '../../domain/own-value.ts';
import { ADDRESS_NOT_ALLOWED, AddressNotAllowedError } from './address-guard.ts';
import { RedirectError } from './redirect.ts';
import { ResolveError } from './resolve-host.ts';

type Failure = Exclude<OutboundOutcome, { kind: 'answered' }>;

/** Error codes for missing local resources, such as sockets. They say nothing about the endpoint. */
const LOCAL_ERRORS = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL', 'ENETDOWN']);

/** Error texts for the readers of delivery records. The original messages may contain addresses and are not shown. */
const TEXTS: Readonly<Record<string, string>> = {
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

/**
 * Converts a thrown error to the outcome of a request. `timedOut`: the deadline of the request passed; `stopped`: the
 * caller aborted it.
 */
export function describeFailure(
  error: unknown,
  {
    timedOut,
    stopped,
    durationMs,
  }: { readonly timedOut: boolean; readonly stopped: boolean; readonly durationMs: number },
): Failure {
  if (error instanceof AddressNotAllowedError) return { kind: 'refused', error: ADDRESS_NOT_ALLOWED, durationMs };
  if (stopped) return { kind: 'local_fault', error: 'stopped', durationMs };
  if (timedOut) return { kind: 'failed', error: 'timeout', durationMs };
  if (error instanceof RedirectError) return { kind: 'failed', error: error.message, durationMs };
  if (error instanceof ResolveError)
    return { kind: error.isLocal ? 'local_fault' : 'failed', error: error.message, durationMs };
  const codes = codesOf(error);
  if (codes.some((code) => LOCAL_ERRORS.has(code)))
    return { kind: 'local_fault', error: 'no socket available', durationMs };
  const code = codes.find((candidate) => Object.hasOwn(TEXTS, candidate));
  if (code !== undefined) return { kind: 'failed', error: ownValue(TEXTS, code) ?? 'request failed', durationMs };
  if (codes.some((candidate) => candidate.startsWith('HPE_')))
    return { kind: 'failed', error: 'invalid response', durationMs };
  if (codes.some((candidate) => /CERT|TLS|SSL|SELF_SIGNED|VERIFY/.test(candidate)))
    return { kind: 'failed', error: 'TLS error', durationMs };
  return { kind: 'failed', error: 'request failed', durationMs };
}

/** Codes of an error, of its causes, and of the errors in an AggregateError. */
function codesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const own = 'code' in error && typeof error.code === 'string' ? [error.code] : [];
  const parts = error instanceof AggregateError ? error.errors.flatMap(codesOf) : [];
  return [...own, ...parts, ...(error.cause === undefined ? [] : codesOf(error.cause))];
}
