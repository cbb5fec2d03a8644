import { refusal } from '../../domain/errors.ts';
import { type RouteLimiter, createRouteLimiter } from './route-limit.ts';
import { parameterNames } from './route-table.ts';
import type { Route } from './route.ts';
import { type Check, type Problem, compileBody, compileCoercing } from './validators.ts';

/** A route with everything that can be computed before the first request. */
export type CompiledRoute = {
  readonly route: Route;
  readonly names: readonly string[];
  readonly checkParams: Check | undefined;
  readonly checkQuery: Check | undefined;
  readonly checkBody: ((value: unknown, bytes: number) => readonly Problem[] | undefined) | undefined;
  /** Roles that may call the route; undefined: every role. */
  readonly roles: readonly string[] | undefined;
  /** Whether the route may change data: every method except GET. */
  readonly unsafe: boolean;
  /** Limits the calls of each client address; undefined: unlimited. */
  readonly limiter: RouteLimiter | undefined;
};

/** Compiles a route declaration. @throws Error when it contradicts itself or one of its schemas does not compile */
export function compileRoute(route: Route): CompiledRoute {
  const names = parameterNames(route.path);
  const declared = Object.keys((route.params?.['properties'] as object | undefined) ?? {});
  if (route.params && declared.some((name) => !names.includes(name)))
    throw new Error(`${route.operation}: parameters ${declared.join(', ')} are not all in the path ${route.path}`);
  if (route.capability !== undefined && route.feature === undefined)
    throw new Error(`${route.operation}: a route with a capability must name its feature`);
  if (route.grants !== undefined && (route.api !== 'admin' || route.access.kind === 'public'))
    throw new Error(`${route.operation}: only routes of the Admin API that need a credential may have grants`);
  if (route.body && route.rawBody)
    throw new Error(`${route.operation}: a route cannot have both a JSON body and a raw body`);
  try {
    return {
      route,
      names,
      checkParams: route.params && compileCoercing(route.params),
      checkQuery: route.query && compileCoercing(route.query),
      checkBody: route.body && compileBody(route.body),
      roles: route.access.kind === 'public' ? undefined : route.access.roles,
      unsafe: route.method !== 'GET',
      limiter: route.limit && createRouteLimiter(route.limit),
    };
  } catch (error) {
    throw new Error(`${route.operation}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** The refusal of an invalid query: 400 with the name of the parameter as it was sent, such as `filters[a][$gt]`. */
export function queryRefusal(problems: readonly Problem[]): Error {
  const [first = '', ...rest] = problems[0]?.field.split('.') ?? [];
  const name = first + rest.map((part) => `[${part}]`).join('');
  return refusal('invalid_query_parameter', name === '' ? {} : { message: `invalid query parameter: ${name}` });
}

/** The refusal of an invalid body: the route's own refusal, else 422 with `fields`. */
export function bodyRefusal(route: Route, problems: readonly Problem[]): Error {
  if (route.bodyRefusal) return route.bodyRefusal(problems);
  return refusal('validation_failed', { fields: problems });
}
