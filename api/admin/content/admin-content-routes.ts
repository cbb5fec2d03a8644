import type { Route } from '../../http/route.ts';
import type { AdminContentDependencies } from './admin-access.ts';
import { commentRoutes } from './comment-routes.ts';
import { adminReadRoutes } from './read-routes.ts';
import { adminRevisionRoutes } from './revision-routes.ts';
import { adminWriteRoutes } from './write-routes.ts';

/** The routes of entries and comments in the console. */
export function adminContentRoutes(dependencies: AdminContentDependencies): readonly Route[] {
  return [
    ...adminReadRoutes(dependencies),
    ...adminRevisionRoutes(dependencies),
    ...adminWriteRoutes(dependencies),
    ...commentRoutes(dependencies),
  ];
}
