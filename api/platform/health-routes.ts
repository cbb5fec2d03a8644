import { Type } from '@sinclair/typebox';
import { refusal } from '../../domain/errors.ts';
import { type Route, route } from '../http/route.ts';

/** The checks behind the probes. The composition root provides them. Probes may call them often. */
export type HealthChecks = {
  readonly state: () => 'setting_up' | 'starting' | 'running' | 'shutting_down';
  /** One round trip to the database. Rejects or returns false when the database is unreachable. */
  readonly databaseReachable: () => Promise<boolean>;
  /** Names of the projections that stopped at an event that they cannot apply. */
  readonly stoppedProjections: () => readonly string[];
  /** Whether the disk with the local data is nearly full. */
  readonly diskLow: () => Promise<boolean>;
  /**
   * What an operator must repair while the process can serve. The readiness probe reports it and succeeds. It must not
   * name tenants, because the probe is public.
   */
  readonly degraded?: () => Promise<readonly string[]>;
  /**
   * Called when the result of a probe changes: with the reasons of its failure, or with an empty list when it recovers.
   */
  readonly onChange?: (probe: 'healthz' | 'readyz' | 'startup', reasons: readonly string[]) => void;
};

const Ok = Type.Object({ status: Type.Literal('ok') });
const Ready = Type.Object({
  status: Type.Union([Type.Literal('ok'), Type.Literal('degraded')]),
  reasons: Type.Optional(Type.Array(Type.String())),
});
const OK = { status: 200, json: '{"status":"ok"}', headers: { 'Cache-Control': 'no-store' } } as const;

/** The reason that a failing readiness or startup probe reports, by the state of the process. */
const STATES = { setting_up: 'setup mode', starting: 'starting', shutting_down: 'shutting down' } as const;

/** A check that takes longer counts as failed. */
const CHECK_TIMEOUT_MS = 2000;
/** How long the result of a check is shared by all probes. */
const SHARED_MS = 1000;

/** The probes of both listeners, and the health routes for callers with a credential. */
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

  const reported = new Map<string, string>();
  /** Reports each change of the result once. */
  function report(probe: 'healthz' | 'readyz' | 'startup', found: readonly string[]): void {
    const now = found.join();
    if ((reported.get(probe) ?? '') === now) return;
    reported.set(probe, now);
    checks.onChange?.(probe, found);
  }

  function probeResponse(probe: 'healthz' | 'readyz' | 'startup', found: readonly string[]) {
    report(probe, found);
    if (found.length > 0) throw notOk(found);
    return OK;
  }

  const live = async () => probeResponse('healthz', (await databaseReachable()) ? [] : ['database unreachable']);
  const degraded = sharedValue<readonly string[]>(() => checks.degraded?.() ?? Promise.resolve([]), []);
  const ready = async () => {
    const found = await reasons();
    if (found.length > 0) return probeResponse('readyz', found);
    const problems = await degraded();
    if (problems.length === 0) return probeResponse('readyz', []);
    report('readyz', problems);
    return { ...OK, json: JSON.stringify({ status: 'degraded', reasons: problems }) };
  };
  function started() {
    const state = checks.state();
    return new Promise<typeof OK>((resolve) => {
      resolve(probeResponse('startup', state === 'starting' || state === 'setting_up' ? [STATES[state]] : []));
    });
  }

  return (['admin', 'content'] as const).flatMap((api) => {
    const side = api === 'admin' ? 'Admin' : 'Content';
    const prefix = api === 'admin' ? '/api/admin' : '/api/v1';
    const probe = {
      api,
      method: 'GET',
      tag: 'platform',
      access: { kind: 'public' },
      responses: { 200: Ok },
      refusals: ['unavailable'],
    } as const;
    const signedIn = { ...probe, access: { kind: 'credential' } } as const;
    return [
      route({
        ...probe,
        path: '/healthz',
        operation: `healthz${side}`,
        summary: 'Liveness probe. Answers 503 when the database does not respond',
        handler: live,
      }),
      route({
        ...probe,
        path: '/readyz',
        operation: `readyz${side}`,
        summary: 'Readiness probe. Answers 503 with `reasons`, or 200 `degraded` with `reasons` while it can serve',
        responses: { 200: Ready },
        handler: ready,
      }),
      route({
        ...probe,
        path: '/startup',
        operation: `startup${side}`,
        summary: 'Startup probe. Answers 503 until the start has finished',
        handler: started,
      }),
      route({
        ...signedIn,
        path: `${prefix}/health`,
        operation: `health${side}`,
        summary: 'Liveness, for callers with a credential',
        handler: live,
      }),
      route({
        ...signedIn,
        path: `${prefix}/ready`,
        operation: `ready${side}`,
        summary: 'Readiness, for callers with a credential',
        responses: { 200: Ready },
        handler: ready,
      }),
    ];
  });
}

function notOk(reasons: readonly string[]): Error {
  return refusal('unavailable', {
    message: reasons[0] ?? 'service unavailable',
    body: { status: 'unavailable', reasons },
  });
}

/** Runs a check at most once a second and shares its result. A failure or a time-out counts as false. */
function shared(check: () => Promise<boolean>): () => Promise<boolean> {
  return sharedValue(check, false);
}

/** Like `shared`, for any result. A failure or a time-out gives `otherwise`. */
function sharedValue<T>(check: () => Promise<T>, otherwise: T): () => Promise<T> {
  let latest: Promise<T> | undefined;
  let until = 0;
  return () => {
    const now = performance.now();
    if (!latest || now >= until) {
      latest = bounded(check, otherwise);
      until = now + SHARED_MS;
    }
    return latest;
  };
}

function bounded<T>(check: () => Promise<T>, otherwise: T): Promise<T> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      resolve(otherwise);
    }, CHECK_TIMEOUT_MS);
    check().then(
      (good) => {
        clearTimeout(timer);
        resolve(good);
      },
      () => {
        clearTimeout(timer);
        resolve(otherwise);
      },
    );
  });
}
