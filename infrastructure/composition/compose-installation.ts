import { configRoutes } from '../../api/admin/platform/config-routes.ts';
import { licenseRoutes } from '../../api/admin/platform/license-routes.ts';
import { pluginRoutes } from '../../api/admin/platform/plugin-routes.ts';
import { tenantFeatureRoutes } from '../../api/admin/platform/tenant-feature-routes.ts';
import type { IdentityModule } from './compose-identity.ts';
import { EMPTY_MODULE, type Module } from './module.ts';
import type { Platform } from './platform/platform.ts';

export type InstallationNeeds = Pick<IdentityModule, 'http'>;

/** The installation as its operators change it: settings, license, features. */
export function composeInstallation(platform: Platform, { http }: InstallationNeeds): Module {
  const { eventStore, vault, configuration, license, progress, features, featureSettings, entitlements } = platform;
  return {
    ...EMPTY_MODULE,
    routes: [
      ...configRoutes({ eventStore, vault, configuration }),
      ...licenseRoutes({ ...license, eventStore }),
      ...pluginRoutes({ eventStore, vault, progress, features, settings: featureSettings, entitlements }),
      ...tenantFeatureRoutes({ eventStore, progress, features, tenantState: http.tenantState }),
    ],
  };
}
