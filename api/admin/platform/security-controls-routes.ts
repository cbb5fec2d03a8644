import { Type } from '@sinclair/typebox';
import { type Route, route } from '../../http/route.ts';

/** One security control of this installation. */
export type SecurityControl = {
  readonly name: string;
  /** Whether this process enforces it. */
  readonly enforced: boolean;
  /** What it does, or how to enable it. */
  readonly detail: string;
};

export type SecurityControlsRouteDependencies = { readonly controls: () => readonly SecurityControl[] };

/** `GET /api/admin/security/controls`: the security controls, and whether each is enforced. */
export function securityControlsRoutes(dependencies: SecurityControlsRouteDependencies): readonly Route[] {
  const { controls } = dependencies;
  return [
    route({
      api: 'admin',
      method: 'GET',
      path: '/api/admin/security/controls',
      operation: 'listSecurityControls',
      summary: 'List the security controls, and whether each is enforced',
      tag: 'platform',
      access: { kind: 'session', roles: ['super_admin'] },
      responses: {
        200: Type.Object({
          controls: Type.Array(Type.Object({ name: Type.String(), enforced: Type.Boolean(), detail: Type.String() })),
        }),
      },
      handler: () =>
        Promise.resolve({ status: 200, body: { controls: controls().map((control) => ({ ...control })) } }),
    }),
  ];
}
