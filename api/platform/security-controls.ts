import { Type } from '@sinclair/typebox';
import type { Route } from '../http/route.ts';
import { route } from '../http/route.ts';

/** One safeguard of this install. */
export type SecurityControl = {
  readonly name: string;
  /** Whether it is in force in this process. */
  readonly enforced: boolean;
  /** What it does, or what would turn it on. */
  readonly detail: string;
};

/** `GET /api/admin/security/controls`: which safeguards enforce (spec 1, Features, license, configuration, privacy). */
export function securityControlsRoute(controls: () => readonly SecurityControl[]): Route {
  return route({
    api: 'admin', method: 'GET', path: '/api/admin/security/controls', operation: 'listSecurityControls', tag: 'platform',
    summary: 'Which safeguards are in force',
    access: { kind: 'session', roles: ['super_admin'] },
    answers: { 200: Type.Object({ controls: Type.Array(Type.Object({ name: Type.String(), enforced: Type.Boolean(), detail: Type.String() })) }) },
    handler: () => Promise.resolve({ status: 200, body: { controls: controls().map((control) => ({ ...control })) } }),
  });
}
