import { refusal } from '../../domain/errors.ts';
import { sameText } from '../http/access.ts';
import type { Route } from '../http/route.ts';
import { route } from '../http/route.ts';

export type MetricsRouteDependencies = {
  readonly metrics: { text(): Promise<string>; readonly contentType: string };
  /** `METRICS_TOKEN`. */
  readonly token: string | undefined;
};

/** `GET /api/admin/metrics`: for who sends `METRICS_TOKEN` as a bearer token; while it is unset, for super admins (spec 1, Health and debugging). */
export function metricsRoute({ metrics, token }: MetricsRouteDependencies): Route {
  return route({
    api: 'admin',
    method: 'GET',
    path: '/api/admin/metrics',
    operation: 'metrics',
    summary: 'Metrics of this process in the format of Prometheus',
    tag: 'platform',
    access: token === undefined ? { kind: 'session', roles: ['super_admin'] } : { kind: 'public' },
    answers: { 200: null },
    refusals: ['authentication_required'],
    handler: async ({ header }) => {
      if (token !== undefined) {
        const sent = /^Bearer +(\S+)$/i.exec(header('authorization') ?? '')?.[1];
        if (sent === undefined || !sameText(sent, token)) throw refusal('authentication_required');
      }
      return { status: 200, text: await metrics.text(), headers: { 'Content-Type': metrics.contentType } };
    },
  });
}
