import type { IdentityDependencies } from '../../../application/identity/dependencies.ts';
import type { Route } from '../../http/route.ts';
import { accessRoute } from './access-route.ts';
import type { AdminTokenRouteDependencies } from './admin-token-routes.ts';
import { adminTokenRoutes } from './admin-token-routes.ts';
import { apiKeyRoutes } from './api-key-routes.ts';
import { deviceRoutes } from './device-routes.ts';
import { magicLinkRoutes } from './magic-link-routes.ts';
import { mfaRoutes } from './mfa-routes.ts';
import { membershipRoutes } from './membership-routes.ts';
import { passwordRoutes } from './password-routes.ts';
import { permissionRoutes } from './permission-routes.ts';
import { sessionRoutes } from './session-routes.ts';
import type { TenantRouteDependencies } from './tenant-routes.ts';
import { tenantRoutes } from './tenant-routes.ts';
import { userRoutes } from './user-routes.ts';

/** Every identity route of the Admin API. */
export function identityRoutes(dependencies: IdentityDependencies & TenantRouteDependencies & AdminTokenRouteDependencies & { readonly secureCookie: boolean }): readonly Route[] {
  return [
    ...sessionRoutes(dependencies), ...mfaRoutes(dependencies), ...passwordRoutes(dependencies), ...magicLinkRoutes(dependencies), ...deviceRoutes(dependencies),
    ...userRoutes(dependencies), ...tenantRoutes(dependencies), ...membershipRoutes(dependencies), ...permissionRoutes(dependencies),
    accessRoute(dependencies), ...apiKeyRoutes(dependencies), ...adminTokenRoutes(dependencies),
  ];
}
