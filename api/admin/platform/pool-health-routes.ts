import { Type } from '@sinclair/typebox';
import { type Route, route } from '../../http/route.ts';
import { Texts, nullable, oneOf } from '../../http/schemas.ts';

/** The state of one connection pool. */
export type PoolReport = {
  readonly name: string;
  readonly max: number;
  readonly total: number;
  readonly idle: number;
  /** Number of callers that wait for a connection. */
  readonly waiting: number;
  /** Connections in use divided by `max`: 0 to 1. */
  readonly utilization: number;
};

/** An external connection pooler, as the settings describe it. */
export type PoolerReport = {
  readonly kind: string;
  readonly max_client_conn: number;
  readonly default_pool_size: number;
  readonly reserve_pool_size: number;
};

export type PoolHealthRouteDependencies = {
  readonly pools: () => readonly PoolReport[];
  /** Duration of one round trip through the main pool in milliseconds. Rejects when the database is unreachable. */
  readonly latency: () => Promise<number>;
  /** Further problems, as messages. */
  readonly problems?: () => readonly string[];
  readonly pooler: PoolerReport | undefined;
  /** A pool beyond one of these is degraded. `minIdle`: the minimum of free connections, idle or not yet opened. */
  readonly thresholds: { readonly maxLatencyMs: number; readonly minIdle: number; readonly maxUtilization: number };
};

const Pool = Type.Object({
  name: Type.String(),
  max: Type.Integer(),
  total: Type.Integer(),
  idle: Type.Integer(),
  waiting: Type.Integer(),
  utilization: Type.Number(),
});
const Pooler = Type.Object({
  kind: Type.String(),
  max_client_conn: Type.Integer(),
  default_pool_size: Type.Integer(),
  reserve_pool_size: Type.Integer(),
});

/**
 * `GET /api/admin/pool/health`: the connection pools of this process. The thresholds are the settings `POOL_HEALTH_*`.
 */
export function poolHealthRoutes(dependencies: PoolHealthRouteDependencies): readonly Route[] {
  return [
    route({
      api: 'admin',
      method: 'GET',
      path: '/api/admin/pool/health',
      operation: 'getPoolHealth',
      summary: 'Get the state of the connection pools of this process',
      tag: 'platform',
      access: { kind: 'session', roles: ['admin', 'super_admin'] },
      responses: {
        200: Type.Object({
          status: oneOf(['healthy', 'degraded', 'unreachable']),
          reasons: Texts,
          latency_ms: nullable(Type.Number()),
          pools: Type.Array(Pool),
          pooler: nullable(Pooler),
        }),
      },
      handler: async () => {
        const latency = await dependencies.latency().catch(() => undefined);
        const pools = dependencies.pools();
        const reasons = [...reasonsOf(dependencies, pools, latency), ...(dependencies.problems?.() ?? [])];
        const status = latency === undefined ? 'unreachable' : reasons.length > 0 ? 'degraded' : 'healthy';
        const latency_ms = latency === undefined ? null : Math.round(latency * 100) / 100;
        return {
          status: 200,
          body: {
            status,
            reasons: [...reasons],
            latency_ms,
            pools: pools.map((pool) => ({ ...pool })),
            pooler: dependencies.pooler ? { ...dependencies.pooler } : null,
          },
        };
      },
    }),
  ];
}

function reasonsOf(
  { thresholds }: PoolHealthRouteDependencies,
  pools: readonly PoolReport[],
  latency: number | undefined,
): readonly string[] {
  const { maxLatencyMs, minIdle, maxUtilization } = thresholds;
  return [
    ...(latency === undefined
      ? ['the database does not answer']
      : latency > maxLatencyMs
        ? [`a round trip takes more than ${String(maxLatencyMs)} ms`]
        : []),
    ...pools.flatMap(({ name, max, total, idle, waiting, utilization }) => [
      ...(utilization > maxUtilization
        ? [`${name}: more than ${String(Math.round(maxUtilization * 100))} % in use`]
        : []),
      ...(idle + (max - total) < minIdle ? [`${name}: fewer than ${String(minIdle)} free connections`] : []),
      ...(waiting > 0 ? [`${name}: ${String(waiting)} callers wait`] : []),
    ]),
  ];
}
