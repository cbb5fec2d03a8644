import { Type } from '@sinclair/typebox';
import { MODELLING } from '../../../application/content/preset-dependencies.ts';
import { type CanvasLayoutDependencies, saveCanvasLayout } from '../../../application/content/save-canvas-layout.ts';
import { TYPE_NAME } from '../../../domain/content/content-type-parser.ts';
import { commitAt } from '../../http/commit.ts';
import { type Route, route } from '../../http/route.ts';
import { strict } from '../../http/schemas.ts';

const SHARED = {
  api: 'admin',
  tag: 'content',
  feature: 'schema',
  access: { kind: 'session', roles: ['admin', 'super_admin'] },
} as const;
const MAX_BYTES = 262_144;

const Positions = Type.Record(
  Type.String({ pattern: TYPE_NAME.source }),
  Type.Object({ x: Type.Number(), y: Type.Number() }, strict),
  strict,
);
const Layout = Type.Object({ positions: Positions, licensed: Type.Boolean() });

export type CanvasLayoutRouteDependencies = CanvasLayoutDependencies;

/** Routes of the canvas layout: the positions of the content types on the schema canvas. Reading needs no license. */
export function canvasLayoutRoutes(dependencies: CanvasLayoutRouteDependencies): readonly Route[] {
  const { layouts, entitlements } = dependencies;
  const licensed = (): boolean => entitlements.has('schema-pro');
  return [
    route({
      ...SHARED,
      method: 'GET',
      path: '/api/admin/schemas/canvas-layout',
      operation: 'getCanvasLayout',
      summary: 'Get the positions of the content types on the canvas, and whether the license allows saving them',
      grants: ['schemas:read'],
      responses: { 200: Layout },
      reads: [MODELLING],
      handler: async ({ tenant }) => ({
        status: 200,
        body: { positions: (await layouts.load(tenant)).positions, licensed: licensed() },
      }),
    }),
    route({
      ...SHARED,
      method: 'PUT',
      path: '/api/admin/schemas/canvas-layout',
      operation: 'saveCanvasLayout',
      summary: 'Replace the positions of the content types on the canvas',
      grants: ['schemas:write'],
      body: Type.Object({ positions: Positions }),
      malformedJson: 'invalid_json',
      maxBodyBytes: MAX_BYTES,
      tooLarge: 'layout_too_large',
      responses: { 200: Layout },
      refusals: ['payment_required', 'layout_too_large'],
      capability: 'schema-pro',
      handler: async ({ body, context }) => {
        const { positions, position } = await saveCanvasLayout(body.positions, context, dependencies);
        return {
          status: 200,
          body: { positions, licensed: licensed() },
          ...commitAt(position, [MODELLING]),
        };
      },
    }),
  ];
}
