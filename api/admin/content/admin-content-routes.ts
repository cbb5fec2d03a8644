import type { Route } from '../../http/route.ts';
import type { AdminContentDependencies } from './admin-access.ts';
import { commentRoutes } from './comment-routes.ts';
import { adminReadRoutes } from './read-routes.ts';
import { adminRevisionRoutes } from './revision-routes.ts';
import { adminWriteRoutes } from './write-routes.ts';

/** Every route of the admin content (spec 4 A). */
export function adminContentRoutes(dependencies: AdminContentDependencies): readonly Route[] {
  return [...adminReadRoutes(dependencies), ...adminRevisionRoutes(dependencies), ...adminWriteRoutes(dependencies), ...commentRoutes(dependencies)];
}
