import type { FieldError } from '../../domain/errors.ts';
import { refusal } from '../../domain/errors.ts';
import type { Route } from './route.ts';
import type { RouteLimiter } from './route-limit.ts';
import { createRouteLimiter } from './route-limit.ts';
import { parameterNames } from './route-table.ts';
import type { Check, Problem } from './validators.ts';
import { compileBody, compileCoercing } from './validators.ts';

/** A route made ready: everything that can be computed before the first request is. */
export type CompiledRoute = {
  readonly route: Route;
  readonly names: readonly string[];
  readonly checkParams: Check | undefined;
  readonly checkQuery: Check | undefined;
  readonly checkBody: ((value: unknown, bytes: number) => readonly Problem[] | undefined) | undefined;
  /** Roles that may call; undefined: any. */
  readonly roles: readonly string[] | undefined;
  readonly unsafe: boolean;
  /** Counts the calls of each client address. */
  readonly limiter: RouteLimiter | undefined;
};

/** @throws Error when a declaration contradicts itself or holds a schema that does not compile. */
export function compileRoute(route: Route): CompiledRoute {
  const names = parameterNames(route.path);
  const declared = Object.keys((route.params?.['properties'] as object | undefined) ?? {});
  if (route.params && declared.some((name) => !names.includes(name))) throw new Error(`${route.operation}: parameters ${declared.join(', ')} are not those of ${route.path}`);
  if (route.capability !== undefined && route.feature === undefined) throw new Error(`${route.operation}: a paid route names its feature`);
  if (route.grants !== undefined && (route.api !== 'admin' || route.access.kind === 'public')) throw new Error(`${route.operation}: admin tokens open routes of the admin API that ask for a credential`);
  if (route.body && route.rawBody) throw new Error(`${route.operation}: a body is JSON or raw`);
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

/** What a refused query answers: 400 naming the parameter as it was sent, `filters[a][$gt]`. */
export function queryRefusal(problems: readonly Problem[]): Error {
  const [first = '', ...rest] = problems[0]?.field.split('.') ?? [];
  const name = first + rest.map((part) => `[${part}]`).join('');
  return refusal('invalid_query_parameter', name === '' ? {} : { message: `invalid query parameter: ${name}` });
}

/** What a refused body answers: the route's own refusal, else 422 with `fields`. */
export function bodyRefusal(route: Route, problems: readonly Problem[]): Error {
  if (route.refuseBody) return route.refuseBody(problems);
  const fields: FieldError[] = problems.map(({ field, message }) => ({ field, message }));
  return refusal('validation_failed', { fields });
}
