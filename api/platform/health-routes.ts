import { type Static, Type } from '@sinclair/typebox';
import { withDeadline } from '../../application/concurrency/with-deadline.ts';
import type { ChainFault } from '../../application/platform/stopped-chains.ts';
import { refusal } from '../../domain/errors.ts';
import { type Route, route } from '../http/route.ts';
import { oneOf } from '../http/schemas.ts';

/** The checks behind the probes. The composition root provides them. Probes may call them often. */
export type HealthRouteDependencies = {
  readonly state: () => 'setting_up' | 'starting' | 'running' | 'shutting_down';
  /** One round trip to the database. Rejects or returns false when the database is unreachable. */
  readonly databaseReachable: () => Promise<boolean>;
  /** Whether the pool gives a connection. It may take as long as the requests that wait for one. Default: it does. */
  readonly poolAnswers?: () => Promise<boolean>;
  /** Names of the followers of the log that have repeated their work without success for some time. */
  readonly retryingFollowers?: () => readonly string[];
  /**
   * The read models that this process must not serve: those of its version are `being_built`, or another version has
   * `replaced` them. Default: none.
   */
  readonly unservedReadModels?: () => Promise<
    readonly { readonly name: string; readonly reason: 'being_built' | 'replaced' }[]
  >;
  /** Names of the projections that stopped at an event that they cannot apply. */
  readonly stoppedProjections: () => readonly string[];
  /** Whether the disk with the local data is nearly full. */
  readonly diskLow: () => Promise<boolean>;
  /** What is wrong with the audit chains. Default: nothing. */
  readonly chainFaults?: () => Promise<readonly ChainFault[]>;
  /** Number of parked streams by projection. Default: none. */
  readonly parkedStreams?: () => Promise<ReadonlyMap<string, number>>;
  /**
   * Called when the result of a probe changes: with its reasons, or with an empty list when it has none any more. For a
   * degraded state the reasons are JSON texts.
   */
  readonly onChange?: (probe: 'healthz' | 'readyz' | 'startup', reasons: readonly string[]) => void;
};

/** The response of a probe that fails. A request that is refused before the probe runs gets no reasons. */
const Unavailable = Type.Object(
  {
    error: Type.String({ description: 'The first reason' }),
    code: Type.Literal('unavailable'),
    status: Type.Optional(Type.Literal('unavailable')),
    reasons: Type.Optional(Type.Array(Type.String(), { examples: [['database unreachable']] })),
  },
  { title: 'Unavailable' },
);
const Health = Type.Object({ status: Type.Literal('ok') });
/** A fault that an operator must repair while the process can serve. The probe is public, so none names a tenant. */
const Degradation = Type.Union([
  Type.Object({ code: Type.Literal('database_pool_exhausted') }),
  Type.Object({ code: Type.Literal('follower_retrying'), follower: Type.String() }),
  Type.Object({
    code: Type.Literal('stream_parked'),
    projection: Type.String(),
    streams: Type.Integer({ description: 'Number of streams that wait' }),
  }),
  Type.Object({
    code: Type.Literal('audit_chains_stopped'),
    chains: Type.Integer({ description: 'Number of stopped chains' }),
  }),
  Type.Object({ code: Type.Literal('audit_state_invalid'), detail: Type.String() }),
]);
const Readiness = Type.Object({
  status: oneOf(['ok', 'degraded']),
  reasons: Type.Optional(Type.Array(Degradation)),
});
const OK = { status: 200, json: '{"status":"ok"}', headers: { 'Cache-Control': 'no-store' } } as const;

/** The reason that a failing readiness or startup probe reports, by the state of the process. */
const STATES = { setting_up: 'setup mode', starting: 'starting', shutting_down: 'shutting down' } as const;

/** A check that takes longer counts as failed. */
const CHECK_TIMEOUT_MS = 2000;
/** How long the result of a check is shared by all probes. */
const SHARED_MS = 1000;

/** The probes of both listeners, and the health routes for callers with a credential. */
export function healthRoutes(dependencies: HealthRouteDependencies): readonly Route[] {
  const databaseReachable = shared(() => dependencies.databaseReachable());
  const poolAnswers = shared(() => dependencies.poolAnswers?.() ?? Promise.resolve(true));
  const diskLow = shared(() => dependencies.diskLow());
  const unservedReadModels = sharedValue(() => dependencies.unservedReadModels?.() ?? Promise.resolve([]), []);

  async function reasons(): Promise<readonly string[]> {
    const state = dependencies.state();
    if (state !== 'running') return [STATES[state]];
    const [reachable, low, unserved] = await Promise.all([databaseReachable(), diskLow(), unservedReadModels()]);
    return [
      ...(reachable ? [] : ['database unreachable']),
      ...unserved.map(
        ({ name, reason }) => `read model ${reason === 'replaced' ? 'replaced' : 'being built'}: ${name}`,
      ),
      ...dependencies.stoppedProjections().map((name) => `projection stopped: ${name}`),
      ...(low ? ['free disk low'] : []),
    ];
  }

  const reported = new Map<string, string>();
  /** Reports each change of the result once. */
  function report(probe: 'healthz' | 'readyz' | 'startup', found: readonly string[]): void {
    const now = found.join();
    if ((reported.get(probe) ?? '') === now) return;
    reported.set(probe, now);
    dependencies.onChange?.(probe, found);
  }

  function probeResponse(probe: 'healthz' | 'readyz' | 'startup', found: readonly string[]) {
    report(probe, found);
    if (found.length > 0) throw notOk(found);
    return OK;
  }

  const live = async () => probeResponse('healthz', (await databaseReachable()) ? [] : ['database unreachable']);
  const chainFaults = sharedValue<readonly ChainFault[]>(() => dependencies.chainFaults?.() ?? Promise.resolve([]), []);
  const parkedStreams = sharedValue<ReadonlyMap<string, number>>(
    () => dependencies.parkedStreams?.() ?? Promise.resolve(new Map()),
    new Map(),
  );
  async function degradations(): Promise<readonly Static<typeof Degradation>[]> {
    const [faults, answers, parked] = await Promise.all([chainFaults(), poolAnswers(), parkedStreams()]);
    return [
      ...(answers ? [] : [{ code: 'database_pool_exhausted' } as const]),
      ...(dependencies.retryingFollowers?.() ?? []).map(
        (follower) => ({ code: 'follower_retrying', follower }) as const,
      ),
      ...[...parked].map(([projection, streams]) => ({ code: 'stream_parked', projection, streams }) as const),
      ...faults,
    ];
  }
  const ready = async () => {
    const failures = await reasons();
    if (failures.length > 0) return probeResponse('readyz', failures);
    const found = await degradations();
    if (found.length === 0) return probeResponse('readyz', []);
    report(
      'readyz',
      found.map((reason) => JSON.stringify(reason)),
    );
    return { ...OK, json: JSON.stringify({ status: 'degraded', reasons: found }) };
  };
  function started() {
    const state = dependencies.state();
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
      responses: { 200: Health, 503: Unavailable },
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
        responses: { 200: Readiness, 503: Unavailable },
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
        responses: { 200: Readiness, 503: Unavailable },
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
      latest = withDeadline(check(), CHECK_TIMEOUT_MS, () => otherwise).catch(() => otherwise);
      until = now + SHARED_MS;
    }
    return latest;
  };
}
