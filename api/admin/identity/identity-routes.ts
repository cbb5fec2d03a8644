import type { Route } from '../../http/route.ts';
import { accessRoutes } from './access-routes.ts';
import { type AdminTokenRouteDependencies, adminTokenRoutes } from './admin-token-routes.ts';
import { type ApiKeyRouteDependencies, apiKeyRoutes } from './api-key-routes.ts';
import { type DeviceRouteDependencies, deviceRoutes } from './device-routes.ts';
import { type MagicLinkRouteDependencies, magicLinkRoutes } from './magic-link-routes.ts';
import { type MembershipRouteDependencies, membershipRoutes } from './membership-routes.ts';
import { type MfaRouteDependencies, mfaRoutes } from './mfa-routes.ts';
import { type PasswordRouteDependencies, passwordRoutes } from './password-routes.ts';
import { type PermissionRouteDependencies, permissionRoutes } from './permission-routes.ts';
import { type SessionRouteDependencies, sessionRoutes } from './session-routes.ts';
import { type TenantRouteDependencies, tenantRoutes } from './tenant-routes.ts';
import { type UserRouteDependencies, userRoutes } from './user-routes.ts';

export type IdentityRouteDependencies = SessionRouteDependencies &
  MfaRouteDependencies &
  PasswordRouteDependencies &
  MagicLinkRouteDependencies &
  DeviceRouteDependencies &
  UserRouteDependencies &
  TenantRouteDependencies &
  MembershipRouteDependencies &
  PermissionRouteDependencies &
  ApiKeyRouteDependencies &
  AdminTokenRouteDependencies;

/** All identity routes of the Admin API. */
export function identityRoutes(dependencies: IdentityRouteDependencies): readonly Route[] {
  return [
    ...sessionRoutes(dependencies),
    ...mfaRoutes(dependencies),
    ...passwordRoutes(dependencies),
    ...magicLinkRoutes(dependencies),
    ...deviceRoutes(dependencies),
    ...userRoutes(dependencies),
    ...tenantRoutes(dependencies),
    ...membershipRoutes(dependencies),
    ...permissionRoutes(dependencies),
    ...accessRoutes(dependencies),
    ...apiKeyRoutes(dependencies),
    ...adminTokenRoutes(dependencies),
  ];
}
