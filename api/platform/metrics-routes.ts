import { refusal } from '../../domain/errors.ts';
import { equalSecrets } from '../../domain/identity/equal-secrets.ts';
import { type Route, route } from '../http/route.ts';

export type MetricsRouteDependencies = {
  readonly metrics: { text(): Promise<string>; readonly contentType: string };
  /** `METRICS_TOKEN`. */
  readonly token: string | undefined;
};

/**
 * `GET /api/admin/metrics`, for callers that send `METRICS_TOKEN` as a bearer token. Without this setting, for super
 * admins.
 */
export function metricsRoutes(dependencies: MetricsRouteDependencies): readonly Route[] {
  const { metrics, token } = dependencies;
  return [
    route({
      api: 'admin',
      method: 'GET',
      path: '/api/admin/metrics',
      operation: 'metrics',
      summary: 'Get the metrics of this process in the Prometheus format',
      tag: 'platform',
      access: token === undefined ? { kind: 'session', roles: ['super_admin'] } : { kind: 'public' },
      responses: { 200: null },
      refusals: ['authentication_required'],
      handler: async ({ header }) => {
        if (token !== undefined) {
          const sent = /^Bearer +(\S+)$/i.exec(header('authorization') ?? '')?.[1];
          if (sent === undefined || !equalSecrets(sent, token)) throw refusal('authentication_required');
        }
        return { status: 200, text: await metrics.text(), headers: { 'Content-Type': metrics.contentType } };
      },
    }),
  ];
}
