// Package model predicts.
package model
