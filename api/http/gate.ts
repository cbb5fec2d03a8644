import { paymentRequired } from '../../application/platform/gates.ts';
import { refusal } from '../../domain/errors.ts';
import type { FeatureName } from '../../domain/platform/features.ts';
import type { CompiledRoute } from './compile-route.ts';
import type { HttpDependencies } from './http-dependencies.ts';
import type { Route } from './route.ts';

/** Whether a path was never served as far as callers can tell: no method of it belongs to a feature that runs (spec 1, gating rules 1). */
export function isHidden(methods: ReadonlyMap<string, CompiledRoute>, { gate }: Pick<HttpDependencies, 'gate'>): boolean {
  for (const { route } of methods.values()) {
    if (route.feature === undefined || !gate.isHidden(route.feature)) return false;
  }
  return true;
}

/**
 * Enforces what the tenant lacks and what the license must open (spec 1, gating rules 1 and 2).
 * @throws `endpoint_not_found`, `payment_required`
 */
export function enforceGate({ capability }: Pick<Route, 'capability'>, feature: FeatureName, tenant: string, { gate }: Pick<HttpDependencies, 'gate'>): void {
  if (gate.isWithheld(tenant, feature)) throw refusal('endpoint_not_found');
  if (capability !== undefined && !gate.entitlements.has(capability)) throw paymentRequired({ plugin: feature, feature: capability }, gate.entitlements);
}
