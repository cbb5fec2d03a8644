import { paymentRequired } from '../../application/platform/license-refusals.ts';
import { refusal } from '../../domain/errors.ts';
import type { FeatureName } from '../../domain/platform/features.ts';
import type { CompiledRoute } from './compile-route.ts';
import type { HttpDependencies } from './http-dependencies.ts';
import type { Route } from './route.ts';

/**
 * Whether a path is hidden: every one of its methods belongs to a feature that is not running. Callers then get 404.
 */
export function isHidden(
  methods: ReadonlyMap<string, CompiledRoute>,
  { featureGate }: Pick<HttpDependencies, 'featureGate'>,
): boolean {
  for (const { route } of methods.values()) {
    if (route.feature === undefined || !featureGate.isHidden(route.feature)) return false;
  }
  return true;
}

/**
 * Refuses a route whose feature is withheld from the tenant, or whose capability the license does not grant.
 * @throws `endpoint_not_found`, `payment_required`
 */
export function enforceFeatureGate(
  {
    feature,
    capability,
    tenant,
  }: { readonly feature: FeatureName; readonly capability: Route['capability']; readonly tenant: string },
  { featureGate }: Pick<HttpDependencies, 'featureGate'>,
): void {
  if (featureGate.isWithheld(tenant, feature)) throw refusal('endpoint_not_found');
  if (capability !== undefined && !featureGate.entitlements.has(capability))
    throw paymentRequired({ plugin: feature, feature: capability }, featureGate);
}
