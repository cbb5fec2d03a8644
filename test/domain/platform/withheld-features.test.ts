import type { WithheldFeaturesEvent } from '../../../domain/platform/withheld-features-events.ts';
import { withheldFeaturesDecider } from '../../../domain/platform/withheld-features.ts';
import { given } from '../../support/given.ts';

describe('the features withheld from a tenant', () => {
  const withheld = (...names: readonly string[]): WithheldFeaturesEvent => ({
    type: 'FeaturesWithheld',
    data: { withheld: names },
  });

  it('are stored sorted and without duplicates', () => {
    given(withheldFeaturesDecider, [])
      .when({ kind: 'replace', features: ['webhook', 'apikey', 'webhook'] })
      .thenAppends([withheld('apikey', 'webhook')]);
  });

  it('do not change when the new list is the current one', () => {
    given(withheldFeaturesDecider, [withheld('apikey', 'webhook')])
      .when({ kind: 'replace', features: ['apikey', 'webhook'] })
      .thenAppendsNothing();
  });

  it('are all available again after an empty list', () => {
    given(withheldFeaturesDecider, [withheld('apikey', 'webhook')])
      .when({ kind: 'replace', features: [] })
      .thenAppends([withheld()]);
  });
});
