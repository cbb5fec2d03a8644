import type { ErrorCode } from '../../../domain/errors.ts';
import type { Route } from '../route.ts';

/** The refusals of a route: those that follow from its declaration, and those that it lists in `refusals`. */
export function refusalsOf(route: Route): readonly ErrorCode[] {
  const { access, api, params, query, body, rawBody, method } = route;
  return [
    ...credentialRefusals(route),
    ...(route.grants === undefined ? [] : (['session_required', 'insufficient_grant'] as const)),
    ...(access.kind !== 'public' && api === 'admin' && method !== 'GET' ? (['invalid_csrf_token'] as const) : []),
    ...(params ? [route.notFound ?? ('not_found' as const)] : []),
    ...(query ? (['invalid_query_parameter'] as const) : []),
    ...(route.feature === undefined ? [] : (['endpoint_not_found'] as const)),
    ...(route.capability === undefined ? [] : (['payment_required'] as const)),
    ...(body
      ? ([
          route.malformedJson ?? 'invalid_json_body',
          route.tooLarge ?? 'body_too_large',
          'unsupported_media_type',
        ] as const)
      : []),
    ...(body && !route.bodyRefusal ? (['validation_failed'] as const) : []),
    ...(rawBody ? ([route.tooLarge ?? 'body_too_large', 'unsupported_media_type'] as const) : []),
    ...(route.idempotent ? (['invalid_header', 'idempotency_in_progress', 'idempotency_key_reused'] as const) : []),
    ...(route.reads && method === 'GET' ? (['invalid_header', 'not_caught_up'] as const) : []),
    ...(route.refusals ?? []),
    'rate_limited',
    'internal',
    'unavailable',
  ];
}

function credentialRefusals({ access, api, grants }: Route): readonly ErrorCode[] {
  if (access.kind === 'public') return [];
  const roles: readonly ErrorCode[] = access.roles ? ['insufficient_permissions'] : [];
  if (access.kind === 'session')
    return [
      'authentication_required',
      access.refusal ?? 'session_required',
      'tenant_disabled',
      'tenant_not_found',
      ...roles,
    ];
  const keys: readonly ErrorCode[] =
    api === 'content'
      ? ['insufficient_scope', 'monthly_limit_exceeded']
      : ['session_required', ...(grants ? (['insufficient_grant'] as const) : [])];
  return ['authentication_required', 'tenant_disabled', 'tenant_not_found', ...keys, ...roles];
}
