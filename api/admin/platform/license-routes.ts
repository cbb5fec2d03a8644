import { Type } from '@sinclair/typebox';
import type { LicenseHolder } from '../../../application/platform/license-holder.ts';
import type { Licensing } from '../../../application/platform/licensing.ts';
import { renewLicense } from '../../../application/platform/renew-license.ts';
import type { EventStore } from '../../../application/ports/event-store.ts';
import { invalidField } from '../../../domain/errors.ts';
import { holdsRole } from '../../../domain/identity/principal.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { graceUntil } from '../../../domain/platform/license.ts';
import { commitAt } from '../../http/commit.ts';
import { type Route, route } from '../../http/route.ts';
import { NullableText, NullableTimestamp, Texts, strict } from '../../http/schemas.ts';

const SHARED = { api: 'admin', tag: 'platform' } as const;

export type LicenseRouteDependencies = {
  readonly holder: LicenseHolder;
  /** Undefined in a build without license support. */
  readonly licensing: Pick<Licensing, 'renew' | 'error'> | undefined;
  readonly eventStore: EventStore;
};

const Entitlements = Type.Object({
  license_module: Type.Boolean(),
  capabilities: Texts,
  plan: Type.String(),
  expires_at: NullableTimestamp,
  grace_until: NullableTimestamp,
  license_error: NullableText,
});
const MAX_KEY = 16_384;

/** The entitlements of the license, and its renewal. A build without license support serves the first route only. */
export function licenseRoutes(dependencies: LicenseRouteDependencies): readonly Route[] {
  const { holder, licensing, eventStore } = dependencies;
  function entitlements(): JsonObject {
    const current = holder.current();
    const inForce = current && current.phase !== 'lapsed';
    return {
      license_module: licensing !== undefined,
      capabilities: inForce ? current.license.capabilities : [],
      plan: inForce ? current.license.plan : 'free',
      expires_at: current?.license.expiresAt.toISOString() ?? null,
      grace_until: current ? graceUntil(current.license).toISOString() : null,
      license_error: licensing?.error() ?? null,
    };
  }

  const entitlementsRoute = route({
    ...SHARED,
    method: 'GET',
    path: '/api/admin/entitlements',
    operation: 'getEntitlements',
    summary: 'Get the entitlements of the license',
    access: { kind: 'credential', roles: ['admin', 'super_admin'] },
    responses: { 200: Entitlements },
    handler: () => Promise.resolve({ status: 200, body: entitlements() }),
  });
  if (!licensing) return [entitlementsRoute];
  return [
    entitlementsRoute,
    route({
      ...SHARED,
      method: 'GET',
      path: '/api/admin/license',
      operation: 'getLicense',
      summary: 'Get the links of the license, and whether the caller may renew it',
      access: { kind: 'session' },
      responses: { 200: Type.Object({ links: Type.Record(Type.String(), Type.String()), renew: Type.Boolean() }) },
      handler: ({ principal }) =>
        Promise.resolve({
          status: 200,
          body: {
            links: { ...holder.current()?.license.links, upgrade: holder.entitlements.upgradeUrl },
            renew: principal !== undefined && holdsRole(principal, ['super_admin']),
          },
        }),
    }),
    route({
      ...SHARED,
      method: 'POST',
      path: '/api/admin/license/renew',
      operation: 'renewLicense',
      summary: 'Install another license key. It takes effect without a restart',
      access: { kind: 'session', roles: ['super_admin'] },
      body: Type.Object({ license_key: Type.String({ maxLength: MAX_KEY }) }, strict),
      responses: { 200: Entitlements },
      refusals: ['license_unverified', 'license_expired', 'license_refused', 'license_server_unreachable'],
      handler: async ({ body, context }) => {
        const licenseKey = body.license_key.trim();
        if (licenseKey === '') throw invalidField('license_key', 'must not be empty');
        const position = await renewLicense({ licenseKey }, context, { licensing, eventStore });
        return { status: 200, body: entitlements(), ...commitAt(position, []) };
      },
    }),
  ];
}
