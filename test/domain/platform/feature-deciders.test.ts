import { expect } from 'chai';
import type { FeatureConfiguration } from '../../../domain/platform/feature-configuration.ts';
import { configureFeature, featureConfigurationDecider, resetFeature } from '../../../domain/platform/feature-configuration.ts';
import { withheldFeaturesDecider, withholdFeatures } from '../../../domain/platform/withheld-features.ts';

const sealed = (c: string) => ({ $sealed: 1, k: 'k', n: 'n', c });
const none = { values: {}, secrets: {}, removed: [] };
const saved: FeatureConfiguration = { values: { days: 7, list: [1, 2] }, secrets: { token: sealed('a') } };

describe('the configuration of a feature', () => {
  it('saves what differs, seals included, and removes what was there', () => {
    const events = configureFeature(saved, 'webhook', { values: { days: 7, list: [1], colour: 'red' }, secrets: { token: sealed('b') }, removed: ['other'] });
    expect(events).to.deep.equal([{ type: 'FeatureConfigured', data: { feature: 'webhook', values: { list: [1], colour: 'red' }, secrets: { token: sealed('b') }, removed: [] } }]);
    expect(events.reduce(featureConfigurationDecider.evolve, saved)).to.deep.equal({ values: { days: 7, list: [1], colour: 'red' }, secrets: { token: sealed('b') } });
  });

  it('saves nothing where nothing differs', () => {
    expect(configureFeature(saved, 'webhook', { ...none, values: { list: [1, 2] }, removed: ['colour'] })).to.deep.equal([]);
  });

  it('takes a value and a secret back', () => {
    const events = configureFeature(saved, 'webhook', { ...none, removed: ['days', 'token'] });
    expect(events.reduce(featureConfigurationDecider.evolve, saved)).to.deep.equal({ values: { list: [1, 2] }, secrets: {} });
  });

  it('is reset once', () => {
    const events = resetFeature(saved, 'webhook');
    expect(events).to.deep.equal([{ type: 'FeatureConfigurationReset', data: { feature: 'webhook' } }]);
    expect(resetFeature(events.reduce(featureConfigurationDecider.evolve, saved), 'webhook')).to.deep.equal([]);
  });
});

describe('the features withheld from a tenant', () => {
  it('are kept in order and once each; the same list again is no fact', () => {
    const events = withholdFeatures([], ['webhook', 'apikey', 'webhook']);
    expect(events).to.deep.equal([{ type: 'FeaturesWithheld', data: { withheld: ['apikey', 'webhook'] } }]);
    const state = events.reduce(withheldFeaturesDecider.evolve, withheldFeaturesDecider.initialState());
    expect(withholdFeatures(state, ['apikey', 'webhook'])).to.deep.equal([]);
    expect(withholdFeatures(state, [])).to.deep.equal([{ type: 'FeaturesWithheld', data: { withheld: [] } }]);
  });
});
