import { Type } from '@sinclair/typebox';
import { refusal } from '../../domain/errors.ts';
import type { Route } from '../http/route.ts';
import { route } from '../http/route.ts';

/** What probes ask; made by the composition root. The functions may be called by anyone, often. */
export type HealthChecks = {
  readonly state: () => 'setting_up' | 'starting' | 'running' | 'shutting_down';
  /** One round trip to the database. Rejects or answers false when there is none. */
  readonly databaseReachable: () => Promise<boolean>;
  /** Names of projections that stopped at an event they can't apply. */
  readonly stoppedProjections: () => readonly string[];
  /** Whether the disk that holds local data is nearly full. */
  readonly diskLow: () => Promise<boolean>;
  /** Told when a probe's answer changes: why it says no, or nothing when it says yes again. */
  readonly onChange?: (probe: 'healthz' | 'readyz' | 'startup', reasons: readonly string[]) => void;
};

const Ok = Type.Object({ status: Type.Literal('ok') });
const OK = { status: 200, json: '{"status":"ok"}', headers: { 'Cache-Control': 'no-store' } } as const;

/** Why a process that is not running is not ready. */
const STATES = { setting_up: 'setup mode', starting: 'starting', shutting_down: 'shutting down' } as const;

/** A check that hangs counts as failed after this; a result is shared by the probes of one second. */
const CHECK_TIMEOUT_MS = 2000;
const SHARED_MS = 1000;

/** Probes of both listeners and the health routes for signed-in callers (spec 1, Health and debugging). */
export function healthRoutes(checks: HealthChecks): readonly Route[] {
  const databaseReachable = shared(() => checks.databaseReachable());
  const diskLow = shared(() => checks.diskLow());

  async function reasons(): Promise<readonly string[]> {
    const state = checks.state();
    if (state !== 'running') return [STATES[state]];
    const [reachable, low] = await Promise.all([databaseReachable(), diskLow()]);
    return [
      ...(reachable ? [] : ['database unreachable']),
      ...checks.stoppedProjections().map((name) => `projection stopped: ${name}`),
      ...(low ? ['free disk low'] : []),
    ];
  }

  const said = new Map<string, string>();
  /** What a probe answers; a change of it is told once, whoever asks how often. */
  function answer(probe: 'healthz' | 'readyz' | 'startup', found: readonly string[]) {
    const now = found.join();
    if ((said.get(probe) ?? '') !== now) {
      said.set(probe, now);
      checks.onChange?.(probe, found);
    }
    if (found.length > 0) throw notOk(found);
    return OK;
  }

  const live = async () => answer('healthz', (await databaseReachable()) ? [] : ['database unreachable']);
  const ready = async () => answer('readyz', await reasons());
  function started() {
    const state = checks.state();
    return new Promise<typeof OK>((resolve) => {
      resolve(answer('startup', state === 'starting' || state === 'setting_up' ? [STATES[state]] : []));
    });
  }

  return (['admin', 'content'] as const).flatMap((api) => {
    const side = api === 'admin' ? 'Admin' : 'Content';
    const prefix = api === 'admin' ? '/api/admin' : '/api/v1';
    const probe = { api, method: 'GET', tag: 'platform', access: { kind: 'public' }, answers: { 200: Ok }, refusals: ['unavailable'] } as const;
    const signedIn = { ...probe, access: { kind: 'credential' } } as const;
    return [
      route({ ...probe, path: '/healthz', operation: `healthz${side}`, summary: 'Liveness; 503 when the database does not answer', handler: live }),
      route({ ...probe, path: '/readyz', operation: `readyz${side}`, summary: 'Readiness; 503 with `reasons`', handler: ready }),
      route({ ...probe, path: '/startup', operation: `startup${side}`, summary: 'Whether the first start has finished', handler: started }),
      route({ ...signedIn, path: `${prefix}/health`, operation: `health${side}`, summary: 'Health for signed-in callers', handler: live }),
      route({ ...signedIn, path: `${prefix}/ready`, operation: `ready${side}`, summary: 'Readiness for signed-in callers', handler: ready }),
    ];
  });
}

function notOk(reasons: readonly string[]): Error {
  return refusal('unavailable', { message: reasons[0] ?? 'service unavailable', body: { status: 'unavailable', reasons } });
}

/** Runs a check at most once a second, whoever asks; a failure or a time-out answers false. */
function shared(check: () => Promise<boolean>): () => Promise<boolean> {
  let latest: Promise<boolean> | undefined;
  let until = 0;
  return () => {
    const now = performance.now();
    if (!latest || now >= until) {
      latest = bounded(check);
      until = now + SHARED_MS;
    }
    return latest;
  };
}

function bounded(check: () => Promise<boolean>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      resolve(false);
    }, CHECK_TIMEOUT_MS);
    check().then(
      (good) => {
        clearTimeout(timer);
        resolve(good);
      },
      () => {
        clearTimeout(timer);
        resolve(false);
      },
    );
  });
}
