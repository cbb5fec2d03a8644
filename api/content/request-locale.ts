import { parseLocale, preferredLocale } from '../../domain/content/locale.ts';
import type { RouteRequest } from '../http/route.ts';
import { invalid } from './parse-list-query.ts';

/** Header of every answer that depends on the caller's language (spec 2, resolution order). */
export const LOCALIZED = { Vary: 'Accept-Language' } as const;

/** The locale that a read asks for: `locale`, else `Accept-Language`; undefined for none. @throws `invalid_query_parameter` for what is no language tag */
export function requestedLocale({ query, header }: Pick<RouteRequest<unknown, { readonly locale?: string }, unknown>, 'query' | 'header'>): string | undefined {
  if (query.locale !== undefined) {
    const locale = parseLocale(query.locale);
    if (locale === undefined) throw invalid('locale');
    return locale;
  }
  const accepted = header('accept-language');
  return accepted === undefined ? undefined : preferredLocale(accepted);
}
