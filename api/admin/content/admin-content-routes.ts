import type { Route } from '../../http/route.ts';
import type { AdminContentRouteDependencies } from './admin-access.ts';
import { adminReadRoutes } from './admin-read-routes.ts';
import { adminRevisionRoutes } from './admin-revision-routes.ts';
import { adminWriteRoutes } from './admin-write-routes.ts';
import { commentRoutes } from './comment-routes.ts';

/** The routes of entries and comments in the console. */
export function adminContentRoutes(dependencies: AdminContentRouteDependencies): readonly Route[] {
  return [
    ...adminReadRoutes(dependencies),
    ...adminRevisionRoutes(dependencies),
    ...adminWriteRoutes(dependencies),
    ...commentRoutes(dependencies),
  ];
}
