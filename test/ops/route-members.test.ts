import { RuleTester } from 'eslint';
import { routeMembers } from '../../ops/lint/route-members.js';

RuleTester.describe = describe;
RuleTester.it = it;

new RuleTester().run('the lint rule for the members of a route', routeMembers, {
  valid: [
    "route({ method: 'GET', path: '/x', summary: 'X', handler });",
    "route({ path: '/x', ...shared, method: 'GET' });",
    "other({ path: '/x', method: 'GET' });",
  ],
  invalid: [
    {
      code: "route({ ...shared, handler, /** Why. */ path: '/x', method: 'GET' });",
      output: "route({ ...shared, method: 'GET', /** Why. */ path: '/x', handler });",
      errors: 1,
    },
  ],
});
