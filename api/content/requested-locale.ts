import { parseLocale, preferredLocale } from '../../domain/content/locale.ts';
import { invalidParameter } from '../http/query-parameters.ts';
import type { RouteRequest } from '../http/route.ts';
import type { ListParameters } from './parse-list-query.ts';

/** Header of every response that depends on the caller's language. */
export const LOCALIZED = { Vary: 'Accept-Language' } as const;

/**
 * The locale that a read requests: the parameter `locale`, else the preferred one of `Accept-Language`, else undefined.
 * @throws `invalid_query_parameter` when `locale` is not a language tag
 */
export function requestedLocale({
  query,
  header,
}: Pick<RouteRequest<unknown, Pick<ListParameters, 'locale'>, unknown>, 'query' | 'header'>): string | undefined {
  if (query.locale !== undefined) {
    const locale = parseLocale(query.locale);
    if (locale === undefined) throw invalidParameter('locale');
    return locale;
  }
  const accepted = header('accept-language');
  return accepted === undefined ? undefined : preferredLocale(accepted);
}
