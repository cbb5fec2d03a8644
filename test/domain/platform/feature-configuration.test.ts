import { expect } from 'chai';
import type { FeatureConfigurationEvent } from '../../../domain/platform/feature-configuration-events.ts';
import {
  type FeatureConfigurationCommand,
  featureConfigurationDecider,
} from '../../../domain/platform/feature-configuration.ts';
import { given } from '../../support/given.ts';

describe('the configuration of a feature', () => {
  const feature = 'webhook';
  const sealed = (c: string) => ({ $sealed: 1, k: 'k', n: 'n', c });
  const unchanged = { values: {}, secrets: {}, removed: [] };
  const saved: FeatureConfigurationEvent = {
    type: 'FeatureConfigured',
    data: { ...unchanged, feature, values: { days: 7, list: [1, 2] }, secrets: { token: sealed('a') } },
  };
  const reset: FeatureConfigurationEvent = { type: 'FeatureConfigurationReset', data: { feature } };
  const configure = (
    change: Partial<Pick<FeatureConfigurationEvent & { type: 'FeatureConfigured' }, 'data'>['data']>,
  ): FeatureConfigurationCommand => ({ kind: 'configure', feature, ...unchanged, ...change });
  const stateAfter = (...events: readonly FeatureConfigurationEvent[]) =>
    events.reduce(featureConfigurationDecider.evolve, featureConfigurationDecider.initialState());

  it('saves the settings that differ, every secret, and removes only saved settings', () => {
    const changed: FeatureConfigurationEvent = {
      type: 'FeatureConfigured',
      data: { feature, values: { list: [1], colour: 'red' }, secrets: { token: sealed('b') }, removed: [] },
    };
    given(featureConfigurationDecider, [saved])
      .when(
        configure({
          values: { days: 7, list: [1], colour: 'red' },
          secrets: { token: sealed('b') },
          removed: ['other'],
        }),
      )
      .thenAppends([changed]);
    expect(stateAfter(saved, changed)).to.deep.equal({
      values: { days: 7, list: [1], colour: 'red' },
      secrets: { token: sealed('b') },
    });
  });

  it('does not change when no setting differs', () => {
    given(featureConfigurationDecider, [saved])
      .when(configure({ values: { list: [1, 2] }, removed: ['colour'] }))
      .thenAppendsNothing();
  });

  it('sets a value and a secret back to their defaults', () => {
    const removed: FeatureConfigurationEvent = {
      type: 'FeatureConfigured',
      data: { ...unchanged, feature, removed: ['days', 'token'] },
    };
    given(featureConfigurationDecider, [saved])
      .when(configure({ removed: ['days', 'token'] }))
      .thenAppends([removed]);
    expect(stateAfter(saved, removed)).to.deep.equal({ values: { list: [1, 2] }, secrets: {} });
  });

  it('is reset once', () => {
    given(featureConfigurationDecider, [saved]).when({ kind: 'reset', feature }).thenAppends([reset]);
    given(featureConfigurationDecider, [saved, reset]).when({ kind: 'reset', feature }).thenAppendsNothing();
  });
});
