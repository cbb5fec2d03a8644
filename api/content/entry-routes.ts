import type { Route } from '../http/route.ts';
import { type ChangeRouteDependencies, changeRoutes } from './change-routes.ts';
import { readRoutes } from './read-routes.ts';
import { relationRoutes } from './relation-routes.ts';
import { type RevisionRouteDependencies, revisionRoutes } from './revision-routes.ts';
import { writeRoutes } from './write-routes.ts';

export type { EntryRouteDependencies } from './entry-access.ts';

export type EntriesRouteDependencies = RevisionRouteDependencies & ChangeRouteDependencies;

/** The routes of entries on the Content API. */
export function entryRoutes(dependencies: EntriesRouteDependencies): readonly Route[] {
  return [
    ...readRoutes(dependencies),
    ...writeRoutes(dependencies),
    ...relationRoutes(dependencies),
    ...revisionRoutes(dependencies),
    ...changeRoutes(dependencies),
  ];
}
